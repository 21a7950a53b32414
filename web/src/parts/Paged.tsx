// A list of the API with its pages. Where it stands is in the address, so each page is a link and the way back works.
import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import type { Page } from '../api/types.ts';
import { listPath } from '../start/requests.ts';
import { useApi } from '../api/use.ts';
import { Shown } from './State.tsx';
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
  /** Links to the whole of the list: a file, a scan. */
  whole?: ComponentChildren;
  /** What stands before the rows, from what the answer has besides them. */
  note?: (page: More) => ComponentChildren;
  /** Rows that are not wanted; how many is said. */
  isHidden?: ((item: T) => boolean) | undefined;
}

/** The address of this page with other parameters; an empty value takes one away. */
export function withQuery(path: string, query: Record<string, string>, changes: Record<string, string | undefined>): string {
  const words = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) words.set(name, value);
    else words.delete(name);
  }
  const text = words.toString();
  return `${path}${text && '?'}${text}`;
}

export function cursorText(params: Record<string, string | number | null>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value !== null) words.set(name, String(value));
  return words.toString();
}

export function Paged<T, More = unknown>({ path, query = {}, columns, id, label, empty, whole, note, isHidden }: Props<T, More>) {
  const location = useLocation();
  const answer = useApi<Page<T> & More>(listPath(path, { ...query, after: location.query['after'] }));
  return (
    <Shown answer={answer} lines={30}>
      {(page) => {
        const next = page.next_page_params;
        const first = location.query['after'] ? withQuery(location.path, location.query, { after: undefined }) : null;
        return (
          <>
            {note?.(page)}
            {isHidden && <p class="quiet" role="note">{page.items.filter(isHidden).length} of {page.items.length} rows of this page are hidden.</p>}
            <Table items={isHidden ? page.items.filter((item) => !isHidden(item)) : page.items} columns={columns} id={id} label={label} empty={first ? 'Nothing follows.' : empty} />
            {(first || next || whole) && (
              <nav class="pages" aria-label="Pages of the list">
                {first && <a class="button small" href={first}>First page</a>}
                {next && <a class="button small" href={withQuery(location.path, location.query, { after: cursorText(next) })}>Next page →</a>}
                <span class="grow" />
                {whole}
              </nav>
            )}
          </>
        );
      }}
    </Shown>
  );
}
