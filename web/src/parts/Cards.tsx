// A list of the API whose items are cards.
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import type { Page } from '../api/types.ts';
import { useApi } from '../api/use.ts';
import { listPath } from '../start/requests.ts';
import { cursorText, withQuery } from './Paged.tsx';
import { Shown } from './State.tsx';

interface Props<T> { path: string; query?: Record<string, string | undefined>; card: (item: T) => ComponentChildren; empty: string; whole?: ComponentChildren }

export function Cards<T>({ path, query = {}, card, empty, whole }: Props<T>) {
  const location = useLocation();
  const answer = useApi<Page<T>>(listPath(path, { ...query, after: location.query['after'] }));
  return (
    <Shown answer={answer} lines={30}>
      {(page) => (
        <>
          {page.items.length === 0 ? <p class="empty">{empty}</p> : <div class="cards">{page.items.map(card)}</div>}
          {(page.next_page_params || location.query['after'] || whole) && (
            <nav class="pages" aria-label="Pages of the list">
              {location.query['after'] && <a class="button small" href={withQuery(location.path, location.query, { after: undefined })}>First page</a>}
              {page.next_page_params && <a class="button small" href={withQuery(location.path, location.query, { after: cursorText(page.next_page_params) })}>Next page →</a>}
              <span class="grow" />
              {whole}
            </nav>
          )}
        </>
      )}
    </Shown>
  );
}
