// Call frames in Parity's shape, which come depth first, as a tree.
import type { RevertReason } from '../api/types.ts';
import { visible } from './hash.ts';
import { precompileOf } from './precompile.ts';
import { reasonText } from './reason.ts';

export interface Frame {
  type: string;
  action: {
    callType?: string; creationMethod?: string; from?: string; to?: string; value?: string; gas?: string; input?: string; init?: string;
    address?: string; refundAddress?: string; balance?: string;
  };
  result: { gasUsed?: string; output?: string; address?: string; code?: string } | null;
  error?: string;
  revert_reason?: RevertReason | null;
  traceAddress: number[];
}

/** Of a call that failed: whether that began in it, or in one below it that failed with the same. */
export interface Node { frame: Frame; calls: Node[]; failed?: 'here' | 'below' }

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
  for (const node of byPlace.values()) {
    if (node.frame.error) node.failed = node.calls.some((below) => below.frame.error && isSame(below.frame, node.frame)) ? 'below' : 'here';
  }
  return root;
}

const isSame = (one: Frame, other: Frame) => JSON.stringify(one.revert_reason ?? null) === JSON.stringify(other.revert_reason ?? null);

/** The call in which it began that one failed: of those below it that failed with the same the last. */
export function originOf(node: Node): Node {
  let at = node;
  while (at.failed === 'below') {
    const below = at.calls.findLast((call) => call.failed && isSame(call.frame, at.frame));
    if (!below) break;
    at = below;
  }
  return at;
}

/** What a call failed with, in words. */
export function failureOf({ frame }: Node): string {
  const reason = reasonText(frame.revert_reason);
  return reason ? `Reverted: ${reason}` : visible(frame.error ?? '');
}

/** What a call's data begins with, if code read it as one: where no gas was used and nothing failed there was none, and precompiled contracts have no functions. */
export function selectorOf({ frame: { action, error, result, type }, calls }: Node): string | undefined {
  const ran = Boolean(error) || calls.length > 0 || Number(result?.gasUsed ?? 1) > 0;
  return type === 'call' && ran && !precompileOf(action.to ?? '') ? action.input?.slice(0, 10) : undefined;
}

/** The tree as text, a line a call. */
export function treeText(node: Node, names: Record<string, string>, depth = 0): string {
  const { frame: { action, type, result }, failed } = node;
  const selector = selectorOf(node) ?? '';
  const words = [
    type === 'call' ? (action.callType ?? 'call') : type,
    action.to ?? result?.address ?? action.refundAddress ?? '',
    names[selector] ?? selector,
    action.value && action.value !== '0x0' ? `value ${BigInt(action.value)}` : '',
    failed === 'here' ? `failed: ${failureOf(node)}` : failed ? 'failed' : '',
  ];
  const line = '  '.repeat(depth) + words.filter(Boolean).join(' ');
  return [line, ...node.calls.map((child) => treeText(child, names, depth + 1))].join('\n');
}
