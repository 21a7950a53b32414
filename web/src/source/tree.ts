// Files as a tree of folders; folders with nothing but a folder are joined with it.

export interface TreeNode {
  /** Unique: a folder may have the path of a file. */
  id: string;
  name: string;
  /** The path of a file; `null` for a folder. */
  path: string | null;
  children: TreeNode[];
}

export interface TreeRow { node: TreeNode; depth: number; isOpen: boolean; parent: string | null }

const FOLDER = 'folder ';

/** The most folders above a file: deeper ones are part of its name. */
const MAX_DEPTH = 40;

interface Folder { folders: Map<string, Folder>; files: TreeNode[] }
const emptyFolder = (): Folder => ({ folders: new Map(), files: [] });

/** The tree of files with unique paths. What leads to the first of them comes first, then folders, then files, by name. */
export function treeOf(paths: string[]): TreeNode[] {
  const root = emptyFolder();
  for (const path of paths) {
    const parts = path.split('/');
    const names = parts.slice(0, Math.min(parts.length - 1, MAX_DEPTH));
    let folder = root;
    for (const name of names) {
      const next = folder.folders.get(name) ?? emptyFolder();
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.push({ id: `file ${path}`, name: parts.slice(names.length).join('/') || '/', path, children: [] });
  }
  return childrenOf(root, '', paths[0] ?? '');
}

function childrenOf(folder: Folder, above: string, main: string): TreeNode[] {
  const rank = (node: TreeNode) => (node.path === main || isAbove(node, main) ? 0 : node.path === null ? 1 : 2);
  const nodes = [...[...folder.folders].map(([name, inner]) => folderNode(name, inner, above, main)), ...folder.files];
  return nodes.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

function folderNode(name: string, folder: Folder, above: string, main: string): TreeNode {
  let [joined, inner] = [name, folder];
  for (let [only] = inner.folders; only && inner.folders.size === 1 && inner.files.length === 0; [only] = inner.folders) [joined, inner] = [`${joined}/${only[0]}`, only[1]];
  const path = `${above}${joined}/`;
  return { id: FOLDER + path, name: joined || '/', path: null, children: childrenOf(inner, path, main) };
}

/** The rows of the tree, without what is in closed folders. */
export function rowsOf(nodes: TreeNode[], isOpen: (node: TreeNode, depth: number) => boolean): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (node: TreeNode, depth: number, parent: string | null) => {
    const open = node.path === null && isOpen(node, depth);
    rows.push({ node, depth, isOpen: open, parent });
    if (open) for (const child of node.children) add(child, depth + 1, node.id);
  };
  for (const node of nodes) add(node, 0, null);
  return rows;
}

/** Whether a folder is above a file. */
export const isAbove = (node: TreeNode, path: string): boolean => node.path === null && path.startsWith(node.id.slice(FOLDER.length));

/** What a key does in a row: it leads to the row of an index, opens or closes the row itself (`act`), or nothing. */
export function actionOf(rows: TreeRow[], at: number, key: string): number | 'act' | null {
  const row = rows[at];
  if (!row) return null;
  const isFolder = row.node.path === null;
  const [next, last] = [Math.min(at + 1, rows.length - 1), rows.length - 1];
  switch (key) {
    case 'Enter': case ' ': return 'act';
    case 'ArrowDown': return next;
    case 'ArrowUp': return Math.max(at - 1, 0);
    case 'Home': return 0;
    case 'End': return last;
    case 'ArrowRight': return row.isOpen ? next : isFolder ? 'act' : null;
    case 'ArrowLeft': return row.isOpen ? 'act' : row.parent === null ? null : rows.findIndex(({ node }) => node.id === row.parent);
    default: return null;
  }
}
