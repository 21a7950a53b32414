// A list of the API whose items are cards.
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import type { Page } from '../../api/types.ts';
import { useApi } from '../../api/use_api.ts';
import { listPath } from '../../start/requests.ts';
import { Pages, useTop } from './Pages.tsx';
import { AnswerView } from '../Answer.tsx';

interface Props<T> { path: string; query?: Record<string, string | undefined>; card: (item: T) => ComponentChildren; empty: string; whole?: ComponentChildren }

export function Cards<T>({ path, query = {}, card, empty, whole }: Props<T>) {
  const location = useLocation();
  const answer = useApi<Page<T>>(listPath(path, { ...query, after: location.query['after'] }));
  const top = useTop(location.query['after']);
  return (
    <div ref={top}><AnswerView answer={answer} lines={30}>
      {(page) => (
        <>
          {page.items.length === 0 ? <p class="empty">{empty}</p> : <div class="cards">{page.items.map(card)}</div>}
          <Pages next={page.next_page_params} whole={whole} />
        </>
      )}
    </AnswerView></div>
  );
}
