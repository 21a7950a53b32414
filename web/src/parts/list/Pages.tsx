// The links below and above a list: first, previous and next page, and a jump to a block or a day.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { blockAt } from '../../api/block_times.ts';
import { blockOf } from '../../format/jump.ts';
import { cursorText, withQuery } from './query.ts';

/** From which page the reader came to a page of a list, by the address of the latter. Only forward cursors come from the API. */
const cameFrom = new Map<string, string>();
const MOST = 500;

export function Pages({ next, whole }: { next: Record<string, string | number | null> | null; whole?: ComponentChildren }) {
  const { path, query } = useLocation();
  const here = withQuery(path, query, {});
  const first = query['after'] ? withQuery(path, query, { after: undefined }) : null;
  const following = next ? withQuery(path, query, { after: cursorText(next) }) : null;
  useEffect(() => {
    if (!following) return;
    if (cameFrom.size > MOST) cameFrom.clear();
    cameFrom.set(following, here);
  }, [following, here]);
  if (!first && !following && !whole) return null;
  const previous = cameFrom.get(here);
  return (
    <nav class="pages" aria-label="Pages of the list">
      {first && <a class="button small" href={first}>First page</a>}
      {previous && previous !== first && <a class="button small" href={previous}>← Previous page</a>}
      {following && <a class="button small" href={following}>Next page →</a>}
      <span class="grow" />
      {whole}
    </nav>
  );
}

/** Goes to the top of the list when another page of it is there, but not on the way back. */
export function useTop(after: string | undefined): (element: HTMLElement | null) => void {
  const top = useRef<HTMLElement | null>(null);
  const before = useRef(after);
  useEffect(() => {
    const isMoved = before.current !== after;
    before.current = after;
    const element = top.current;
    if (isMoved && element && element.getBoundingClientRect().top < 0) element.scrollIntoView({ block: 'start' });
  }, [after]);
  return (element) => { top.current = element; };
}

/** Shows a list from a block or a day on: `cursor` is the position behind everything of that block. */
export function Jump({ cursor }: { cursor: (block: number) => string }) {
  const { path, query, route } = useLocation();
  const [message, setMessage] = useState('');
  const go = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('to') ?? '').trim();
    const target = blockOf(text);
    const block = target?.seconds === undefined ? target?.block : await blockAt(target.seconds);
    if (block === undefined) setMessage('That is no block and no day.');
    else if (block === null) setMessage('No block of that day is loaded.');
    else {
      setMessage('');
      route(withQuery(path, query, { after: cursor(block) }));
    }
  };
  return (
    <form class="row jump" onSubmit={(event) => void go(event)}>
      <input name="to" size={16} placeholder="Block or 2024-01-31" aria-label="Go to a block or a day" autocomplete="off" onInput={() => setMessage('')} />
      <button type="submit" class="button small">Go</button>
      {message && <span class="bad" role="status">{message}</span>}
    </form>
  );
}
