interface Window {
  /** Requests that the start script has sent, by path, until they are used. */
  trawlEarly?: Record<string, Promise<Response>>;
}
