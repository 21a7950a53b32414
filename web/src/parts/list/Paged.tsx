// A list of the API with its pages. Where it stands is in the address, so each page is a link and the way back works.
import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import type { Page } from '../../api/types.ts';
import { listPath } from '../../start/requests.ts';
import { useApi } from '../../api/use_api.ts';
import { Pages, useTop } from './Pages.tsx';
import { Shown } from '../State.tsx';
import { type Column, Table } from './Table.tsx';

interface Props<T, More> {
  /** The list, below `/api/v2`. */
  path: string;
  /** Parameters of the list besides its cursor. */
  query?: Record<string, string | undefined>;
  columns: Column<T>[];
  id: (item: T) => string;
  label: string;
  empty?: string;
  /** What is missing between two rows that follow one another. */
  gap?: (above: T, below: T) => string | null;
  /** Links to the whole of the list: a file, a scan. */
  whole?: ComponentChildren;
  /** What stands before the rows, from what the answer has besides them. */
  note?: (page: More) => ComponentChildren;
  /** What follows the list, once that is there, so that nothing moves. */
  after?: ComponentChildren;
  /** Rows that are not wanted; how many is said. */
  isHidden?: ((item: T) => boolean) | undefined;
}

export function Paged<T, More = unknown>({ path, query = {}, columns, id, label, empty, gap, whole, note, after, isHidden }: Props<T, More>) {
  const location = useLocation();
  const answer = useApi<Page<T> & More>(listPath(path, { ...query, after: location.query['after'] }));
  const top = useTop(location.query['after']);
  return (
    <div ref={top}><Shown answer={answer} lines={30}>
      {(page) => {
        return (
          <>
            {note?.(page)}
            {isHidden && <p class="quiet" role="note">{page.items.filter(isHidden).length} of {page.items.length} rows of this page are hidden.</p>}
            <Table items={isHidden ? page.items.filter((item) => !isHidden(item)) : page.items} columns={columns} id={id} gap={isHidden ? undefined : gap} label={label} empty={location.query['after'] ? 'Nothing follows.' : empty} />
            <Pages next={page.next_page_params} whole={whole} />
            {after}
          </>
        );
      }}
    </Shown></div>
  );
}
