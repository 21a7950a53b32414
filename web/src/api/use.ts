// Answers of the API as state of a component.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { getJson, Problem } from './request.ts';

export interface Answer<T> {
  data?: T;
  problem?: Problem;
  /** Asks once more; what is shown stays until the new answer is there. */
  again: () => void;
}

/** Whether there is something to show of it. */
export const isAnswered = (answer: Answer<unknown>): boolean => answer.data !== undefined || answer.problem !== undefined;

interface Kept<T> { path: string | null; data?: T; problem?: Problem }

/** Answers that were shown lately, so that the way back shows them at once. */
const shown = new Map<string, unknown>();
const MOST_SHOWN = 40;

function keep(path: string, data: unknown): void {
  shown.delete(path);
  shown.set(path, data);
  const oldest = shown.keys().next().value;
  if (shown.size > MOST_SHOWN && oldest !== undefined) shown.delete(oldest);
}

/** How long to wait before the API is asked again that could not be reached, in milliseconds. */
const PATIENCE = 3000;

/** The answer at a path, asked for when the path changes; `null` asks for nothing. */
export function useApi<T>(path: string | null): Answer<T> {
  const [state, setState] = useState<Kept<T>>({ path: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    getJson<T>(path, stop.signal).then(
      (data) => {
        if (stop.signal.aborted) return;
        keep(path, data);
        setState({ path, data });
      },
      (failure: unknown) => {
        if (stop.signal.aborted) return;
        const problem = failure instanceof Problem ? failure : new Problem(0, String(failure));
        setState((before) => ({ path, problem, ...(before.path === path && problem.status === 0 && { data: before.data }) }));
        if (problem.status === 0 || problem.status === 503) timer = setTimeout(() => setRound((count) => count + 1), PATIENCE);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, round]);
  const again = useCallback(() => setRound((count) => count + 1), []);
  if (path === null) return { again };
  if (state.path === path) return { data: state.data, problem: state.problem, again };
  return { data: shown.get(path) as T | undefined, again };
}
