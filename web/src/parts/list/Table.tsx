// A list of rows. On narrow screens each row is a card whose values are named by their columns.
import { type ComponentChildren, Fragment } from 'preact';

export interface Column<T> {
  name: string;
  head?: ComponentChildren;
  cell: (item: T) => ComponentChildren;
  /** Numbers stand at the right. */
  right?: boolean;
}

interface Props<T> {
  items: T[];
  columns: Column<T>[];
  /** Names a row among the others. */
  id: (item: T) => string;
  label: string;
  empty?: string;
  /** What is missing between two rows that follow one another. */
  gap?: ((above: T, below: T) => string | null) | undefined;
}

export function Table<T>({ items, columns, id, label, empty, gap }: Props<T>) {
  if (items.length === 0) return <p class="empty">{empty ?? 'Nothing is here.'}</p>;
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

/** From one part of the page to the next: arrows go along the tabs. */
function alongTabs(event: KeyboardEvent, tab: Element): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const tabs = Array.from(tab.closest('.tabs')?.querySelectorAll<HTMLElement>('a') ?? []);
  const next = step && tabs[tabs.indexOf(tab as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Rows by keyboard: arrows go from row to row once one of them has the focus, and j and k from anywhere. */
export function rowsByKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.target instanceof Element ? event.target : null;
    if (at?.closest('input, textarea, select, [contenteditable]')) return;
    const tab = at?.closest('.tabs a');
    if (tab) alongTabs(event, tab);
    const row = at?.closest('[data-row]') ?? null;
    const letter = { j: 1, k: -1 }[event.key] ?? (row ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : undefined);
    if (letter === undefined) return;
    const rows = Array.from(document.querySelectorAll('[data-row]'));
    const next = rows[row ? rows.indexOf(row) + letter : letter > 0 ? 0 : rows.length - 1];
    const link = next?.querySelector<HTMLElement>('a, button, summary');
    if (!link) return;
    event.preventDefault();
    link.focus();
    next?.scrollIntoView({ block: 'nearest' });
  });
}
