// Call frames in Parity's shape, which come depth first, as a tree.

export interface Frame {
  type: string;
  action: {
    callType?: string; creationMethod?: string; from?: string; to?: string; value?: string; gas?: string; input?: string; init?: string;
    address?: string; refundAddress?: string; balance?: string;
  };
  result: { gasUsed?: string; output?: string; address?: string; code?: string } | null;
  error?: string;
  traceAddress: number[];
}

export interface Node { frame: Frame; calls: Node[] }

/** The outermost call with those below it; null without frames. */
export function treeOf(frames: Frame[]): Node | null {
  const byPlace = new Map<string, Node>();
  let root: Node | null = null;
  for (const frame of frames) {
    const node: Node = { frame, calls: [] };
    byPlace.set(frame.traceAddress.join('.'), node);
    if (frame.traceAddress.length === 0) root = node;
    else byPlace.get(frame.traceAddress.slice(0, -1).join('.'))?.calls.push(node);
  }
  return root;
}

/** What a call's data begins with, if code read it: where no gas was used and nothing failed, there was none. */
export function selectorOf({ frame: { action, error, result, type }, calls }: Node): string | undefined {
  const ran = Boolean(error) || calls.length > 0 || Number(result?.gasUsed ?? 1) > 0;
  return type === 'call' && ran ? action.input?.slice(0, 10) : undefined;
}

/** The tree as text, a line a call. */
export function treeText(node: Node, names: Record<string, string>, depth = 0): string {
  const { action, error, type, result } = node.frame;
  const selector = selectorOf(node) ?? '';
  const words = [
    type === 'call' ? (action.callType ?? 'call') : type,
    action.to ?? result?.address ?? action.refundAddress ?? '',
    names[selector] ?? selector,
    action.value && action.value !== '0x0' ? `value ${BigInt(action.value)}` : '',
    error ? `failed: ${error}` : '',
  ];
  const line = '  '.repeat(depth) + words.filter(Boolean).join(' ');
  return [line, ...node.calls.map((child) => treeText(child, names, depth + 1))].join('\n');
}
