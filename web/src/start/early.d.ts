interface Window {
  /** Requests that the start script began, by their path, until they are taken. */
  trawlEarly?: Record<string, Promise<Response>>;
}
