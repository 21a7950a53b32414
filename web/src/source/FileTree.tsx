// The files of a contract as a tree, which arrow keys move through (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/).
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../format/amount.ts';
import { Chunks } from '../parts/list/Chunks.tsx';
import { withCodes } from './code_text.ts';
import { actionOf, isAbove, rowsOf, type TreeNode, type TreeRow, treeOf } from './tree.ts';

interface Props {
  paths: string[];
  /** Files with characters that change the direction of the text. */
  marked: ReadonlySet<string>;
  chosen: string;
  choose: (path: string) => void;
}

/** The most files whose folders are all open at first. */
const MAX_OPEN = 40;
/** The most files that need no search. */
const MAX_UNSEARCHED = 10;
/** The most rows that are all on the page. */
const MAX_ROWS = 500;
const MAX_INDENT = 8;
/** The height at the end of the list that a row needs, in pixels. */
const MIN_VISIBLE = 30;

export function FileTree({ paths, marked, chosen, choose }: Props) {
  const [words, setWords] = useState('');
  const [folding, setFolding] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [focused, setFocused] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const tree = useMemo(() => treeOf(paths), [paths]);
  // The folders of files that were open stay open.
  const seen = useRef(new Set<string>()).current.add(chosen);
  const isOpen = (node: TreeNode) => folding.get(node.id) ?? (paths.length <= MAX_OPEN || [...seen].some((path) => isAbove(node, path)));
  const rows = useMemo(() => (words.trim() ? foundRows(paths, words) : rowsOf(tree, isOpen)), [tree, words, folding, chosen]);
  const current = rows.find(({ node }) => node.id === focused) ?? rows.find(({ node }) => node.path === chosen) ?? rows[0];
  useChosenRow(list, rows.findIndex(({ node }) => node.path === chosen) / rows.length, chosen);
  const row = (one: TreeRow) => <Row key={one.node.id} row={one} isChosen={one.node.path === chosen} isCurrent={one === current} isMarked={marked.has(one.node.path ?? '')} act={() => act(one)} />;
  const act = ({ node, isOpen: open }: TreeRow) => {
    setFocused(node.id);
    if (node.path === null) setFolding(new Map(folding).set(node.id, !open));
    else choose(node.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const action = !current || event.ctrlKey || event.metaKey || event.altKey ? null : actionOf(rows, rows.indexOf(current), event.key);
    if (!current || action === null) return;
    event.preventDefault();
    if (action === 'act') return act(current);
    const id = rows[action]?.node.id ?? current.node.id;
    setFocused(id);
    list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus();
  };
  return (
    <div class="filetree">
      {paths.length > MAX_UNSEARCHED && <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} placeholder={`Search ${count(paths.length)} files`} aria-label="Search files by name" />}
      {rows.length === 0
        ? <p class="quiet" role="status">No file has such a name.</p>
        : <ul ref={list} role="tree" aria-label="Files" onKeyDown={onKeyDown}>{rows.length <= MAX_ROWS ? rows.map(row) : <Chunks items={rows} row={row} />}</ul>}
    </div>
  );
}

/** Scrolls the list to the row of the chosen file, which is at a share of its height. */
function useChosenRow(list: RefObject<HTMLElement | null>, share: number, chosen: string): void {
  useLayoutEffect(() => {
    const element = list.current;
    if (!element || !(share >= 0)) return;
    const top = share * element.scrollHeight;
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - MIN_VISIBLE) element.scrollTop = top - element.clientHeight / 2;
  }, [chosen]);
}

/** Files whose paths contain all words, as rows without folders. */
function foundRows(paths: string[], words: string): TreeRow[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = paths.filter((path) => parts.every((part) => path.toLowerCase().includes(part)));
  return found.map((path) => ({ node: { id: `file ${path}`, name: path, path, children: [] }, depth: 0, isOpen: false, parent: null }));
}

interface RowProps { row: TreeRow; isChosen: boolean; isCurrent: boolean; isMarked: boolean; act: () => void }

function Row({ row: { node, depth, isOpen }, isChosen, isCurrent, isMarked, act }: RowProps) {
  const isFolder = node.path === null;
  return (
    <li role="treeitem" data-id={node.id} style={{ '--depth': String(Math.min(depth, MAX_INDENT)) }} aria-level={depth + 1} aria-expanded={isFolder ? isOpen : undefined} aria-selected={isChosen} tabIndex={isCurrent ? 0 : -1} onClick={act} title={withCodes((node.path ?? node.name).slice(0, 500))}>
      <span class="fold" aria-hidden="true">{isFolder ? (isOpen ? '▾' : '▸') : ''}</span>
      <bdi>{withCodes(node.name)}</bdi>
      {isMarked && <span class="suspect" role="img" aria-label="It has characters that change the direction of the text" title="It has characters that change the direction of the text">⚠</span>}
    </li>
  );
}
