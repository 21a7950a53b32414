// A table. On narrow screens each row is a card whose values are labelled by their columns.
import { type ComponentChildren, Fragment } from 'preact';

export interface Column<T> {
  name: string;
  head?: ComponentChildren;
  cell: (item: T) => ComponentChildren;
  /** Aligns numbers to the right. */
  right?: boolean;
}

interface Props<T> {
  items: T[];
  columns: Column<T>[];
  /** The key of a row. */
  id: (item: T) => string;
  label: string;
  empty?: string;
  /** What is missing between two adjacent rows. */
  gap?: ((above: T, below: T) => string | null) | undefined;
}

export function Table<T>({ items, columns, id, label, empty, gap }: Props<T>) {
  if (items.length === 0) return <p class="empty">{empty ?? 'No rows.'}</p>;
  return (
    <table class="list" aria-label={label}>
      <thead>
        <tr>{columns.map((column) => <th key={column.name} scope="col" class={column.right ? 'right' : undefined}>{column.head ?? column.name}</th>)}</tr>
      </thead>
      <tbody>
        {items.map((item, index) => (<Fragment key={id(item)}>
          <Gap of={index > 0 ? gap?.(items[index - 1] as T, item) : null} columns={columns.length} />
          <tr data-row>
            {columns.map((column) => (
              <td key={column.name} data-name={column.name} class={column.right ? 'right' : undefined}><div>{column.cell(item)}</div></td>
            ))}
          </tr>
        </Fragment>))}
      </tbody>
    </table>
  );
}

const Gap = ({ of, columns }: { of: string | null | undefined; columns: number }) => (of ? <tr class="gap"><td colSpan={columns}><div>{of}</div></td></tr> : null);

/** Moves the focus along the tabs by arrow keys. */
function alongTabs(event: KeyboardEvent, tab: Element): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tabs = Array.from(tab.closest('.tabs')?.querySelectorAll<HTMLElement>('a') ?? []);
  const next = step && tabs[tabs.indexOf(tab as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Moves the focus between rows: by arrow keys once a row has the focus, and by j and k from anywhere. */
export function enableRowKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target instanceof Element ? event.target : null;
    if (at?.closest('input, textarea, select, [contenteditable]')) return;
    const tab = at?.closest('.tabs a');
    if (tab) alongTabs(event, tab);
    const row = at?.closest('[data-row]') ?? null;
    const step = { j: 1, k: -1 }[event.key] ?? (row ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : undefined);
    if (step === undefined) return;
    const rows = Array.from(document.querySelectorAll('[data-row]'));
    const next = rows[row ? rows.indexOf(row) + step : step > 0 ? 0 : rows.length - 1];
    const link = next?.querySelector<HTMLElement>('a, button, summary');
    if (!link) return;
    event.preventDefault();
    link.focus();
    next?.scrollIntoView({ block: 'nearest' });
  });
}
