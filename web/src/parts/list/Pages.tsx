// Links to the first, previous and next page of a list, and a jump to a block or a day.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { blockAt } from '../../api/block_times.ts';
import { blockOf } from '../../format/jump.ts';
import { cursorText, withQuery } from './query.ts';

/** The previous page of each visited page of a list, by its URL. The API has forward cursors only. */
const previousPages = new Map<string, string>();
const MAX_PAGES = 500;

export function Pages({ next, whole, label = 'Pages of the list' }: { next: Record<string, string | number | null> | null; whole?: ComponentChildren; label?: string }) {
  const { path, query } = useLocation();
  const here = withQuery(path, query, {});
  const first = query['after'] ? withQuery(path, query, { after: undefined }) : null;
  const nextPage = next ? withQuery(path, query, { after: cursorText(next) }) : null;
  useEffect(() => {
    if (!nextPage) return;
    if (previousPages.size > MAX_PAGES) previousPages.clear();
    previousPages.set(nextPage, here);
  }, [nextPage, here]);
  if (!first && !nextPage && !whole) return null;
  const previous = previousPages.get(here);
  return (
    <nav class="pages" aria-label={label}>
      {first && <a class="button small" href={first}>First page</a>}
      {previous && previous !== first && <a class="button small" href={previous}>← Previous page</a>}
      {nextPage && <a class="button small" href={nextPage}>Next page →</a>}
      <span class="grow" />
      {whole}
    </nav>
  );
}

/** Scrolls to the top of the list when another page of it is shown and the top is out of view. */
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

/** Jumps to a block or a day in a list; `cursor` is the position after everything of that block. */
export function Jump({ cursor }: { cursor: (block: number) => string }) {
  const { path, query, route } = useLocation();
  const [message, setMessage] = useState('');
  const go = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('to') ?? '').trim();
    const target = blockOf(text);
    const block = target?.seconds === undefined ? target?.block : await blockAt(target.seconds);
    if (block === undefined) setMessage('That is not a block or a day.');
    else if (block === null) setMessage('The block at that time is not loaded.');
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
