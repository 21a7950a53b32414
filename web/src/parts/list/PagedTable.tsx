// A paged list of the API as a table. The cursor is in the URL, so that each page is a link and the back button works.
import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import type { Page } from '../../api/types.ts';
import { listPath } from '../../start/requests.ts';
import { useApi } from '../../api/use_api.ts';
import { Pages, useTop } from './Pages.tsx';
import { AnswerView } from '../Answer.tsx';
import { type Column, Table } from './Table.tsx';

interface Props<T, More> {
  /** The list, below `/api/v2`. */
  path: string;
  /** Parameters of the list besides its cursor. */
  query?: Record<string, string | undefined>;
  /** The columns, also of what the whole page has. */
  columns: Column<T>[] | ((page: Page<T>) => Column<T>[]);
  id: (item: T) => string;
  label: string;
  empty?: string;
  /** What is missing between two adjacent rows. */
  gap?: (above: T, below: T) => string | null;
  /** Links to the whole list, as a file or a scan. */
  whole?: ComponentChildren;
  /** A note above the rows, from the other members of the answer. */
  note?: (page: More) => ComponentChildren;
  /** Content below the list, which is shown once the list has loaded, so that the layout does not shift. */
  after?: ComponentChildren;
  /** Which rows are hidden; their number is shown. */
  isHidden?: ((item: T) => boolean) | undefined;
}

export function PagedTable<T, More = unknown>({ path, query = {}, columns, id, label, empty, gap, whole, note, after, isHidden }: Props<T, More>) {
  const location = useLocation();
  const answer = useApi<Page<T> & More>(listPath(path, { ...query, after: location.query['after'] }));
  const top = useTop(location.query['after']);
  const emptyText = (hasHidden: boolean) => (hasHidden ? 'All rows of this page are hidden.' : location.query['after'] ? 'No more rows.' : empty);
  return (
    <div ref={top}><AnswerView answer={answer} lines={30}>
      {(page) => {
        return (
          <>
            {note?.(page)}
            {location.query['after'] && <Pages next={page.next_page_params} label="Pages, above the list" />}
            {isHidden && page.items.some(isHidden) && <p class="quiet" role="note">{page.items.filter(isHidden).length} of {page.items.length} rows of this page are hidden.</p>}
            <Table items={isHidden ? page.items.filter((item) => !isHidden(item)) : page.items} columns={typeof columns === 'function' ? columns(page) : columns} id={id} gap={isHidden ? undefined : gap} label={label} empty={emptyText(page.items.length > 0)} />
            <Pages next={page.next_page_params} whole={whole} />
            {after}
          </>
        );
      }}
    </AnswerView></div>
  );
}
