// Answers of the API as the state of a component.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { getJson, Problem } from './request.ts';

export interface Answer<T> {
  data?: T;
  problem?: Problem;
  /** Sends the request once more; the current answer stays until the new one arrives. */
  refetch: () => void;
}

/** Whether there is data or a problem to show. */
export const isSettled = (answer: Answer<unknown>): boolean => answer.data !== undefined || answer.problem !== undefined;

interface RequestState<T> { path: string | null; data?: T; problem?: Problem }

/** The latest answers, so that pages in the history of the browser show them at once. */
const cache = new Map<string, unknown>();
const MAX_CACHED = 40;

function addToCache(path: string, data: unknown): void {
  cache.delete(path);
  cache.set(path, data);
  const oldest = cache.keys().next().value;
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
}

/** The pause before a request is retried while the API cannot be reached, in milliseconds. */
const RETRY_DELAY = 3000;

/** The answer at a path, requested when the path changes; no request is sent for `null`. */
export function useApi<T>(path: string | null): Answer<T> {
  const [state, setState] = useState<RequestState<T>>({ path: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    getJson<T>(path, controller.signal).then(
      (data) => {
        if (controller.signal.aborted) return;
        addToCache(path, data);
        setState({ path, data });
      },
      (failure: unknown) => {
        if (controller.signal.aborted) return;
        const problem = failure instanceof Problem ? failure : new Problem(0, String(failure));
        setState((before) => ({ path, problem, ...(before.path === path && problem.status === 0 && { data: before.data }) }));
        if (problem.status === 0 || problem.status === 503) timer = setTimeout(() => setRound((count) => count + 1), RETRY_DELAY);
      },
    );
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [path, round]);
  const refetch = useCallback(() => setRound((count) => count + 1), []);
  if (path === null) return { refetch };
  if (state.path === path) return { data: state.data, problem: state.problem, refetch };
  return { data: cache.get(path) as T | undefined, refetch };
}
