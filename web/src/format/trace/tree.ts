// Call frames in Parity's shape, which come depth first, as a tree.
import type { DecodedData, RevertReason } from '../../api/types.ts';
import { visible } from '../hash.ts';
import { precompileOf } from '../precompile.ts';
import { isBareRevert, plain, reasonText } from './reason.ts';

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

/** A value with its name and type. */
export interface Result { name: string; type: string; value: unknown }
/** The decoded data of a frame, as far as it can be decoded. */
export interface DecodedCall { method: string | null; input: DecodedData | null; output: Result[] | null }

/** A call with the calls that it made. `failed` says whether the failure began here, or below with the same reason. */
export interface Node {
  frame: Frame; calls: Node[]; failed?: 'here' | 'below'; read?: DecodedCall;
  /** Whether a failure of this call or of one around it reverted it. */
  isUndone: boolean;
  /** A number that calls of the same function of the same contract share if the calls that they make have equal shapes. */
  shape: number;
}

/** The outermost call with those below it; null without frames. */
export function treeOf(frames: Frame[], read: DecodedCall[] = []): Node | null {
  const byPlace = new Map<string, Node>();
  let root: Node | null = null;
  for (const [index, frame] of frames.entries()) {
    const parent = byPlace.get(frame.traceAddress.slice(0, -1).join('.'));
    const node: Node = { frame, calls: [], read: read[index], isUndone: Boolean(frame.error) || Boolean(frame.traceAddress.length && parent?.isUndone), shape: 0 };
    byPlace.set(frame.traceAddress.join('.'), node);
    if (frame.traceAddress.length === 0) root = node;
    else parent?.calls.push(node);
  }
  const nodes = [...byPlace.values()];
  for (const node of nodes) {
    if (node.frame.error) node.failed = node.calls.some((below) => below.frame.error && isSame(below.frame, node.frame)) ? 'below' : 'here';
  }
  setShapes(nodes);
  return root;
}

/** Sets the shapes from the last call to the first, so that calls come before their caller. */
function setShapes(nodes: Node[]): void {
  const shapes = new Map<string, number>();
  for (const node of nodes.toReversed()) {
    const { type, action, error } = node.frame;
    const key = [type, action.callType, action.to, action.input?.slice(0, 10), error, ...node.calls.map((call) => call.shape)].join(' ');
    node.shape = shapes.get(key) ?? shapes.size + 1;
    shapes.set(key, node.shape);
  }
}

const isSame = (one: Frame, other: Frame) => JSON.stringify(one.revert_reason ?? null) === JSON.stringify(other.revert_reason ?? null);

/** The call in which a failure began: the last one below that failed for the same reason. */
export function originOf(node: Node): Node {
  let at = node;
  while (at.failed === 'below') {
    const below = at.calls.findLast((call) => call.failed && isSame(call.frame, at.frame));
    if (!below) break;
    at = below;
  }
  return at;
}

/** Why a call failed, as text. */
export function failureOf({ frame }: Node): string {
  const reason = reasonText(frame.revert_reason);
  return reason ? `Reverted: ${reason}` : isBareRevert(frame.error ?? '') ? 'Reverted, and no reason is known here' : visible(frame.error ?? '');
}

/** The selector of a call, if code ran that reads it: a call without gas use and failure ran none, and precompiled contracts have no functions. */
export function selectorOf({ frame: { action, error, result, type }, calls }: Node): string | undefined {
  const ran = Boolean(error) || calls.length > 0 || Number(result?.gasUsed ?? 1) > 0;
  return type === 'call' && ran && !precompileOf(action.to ?? '') ? action.input?.slice(0, 10) : undefined;
}

/** A method with its parameters and results, as `transfer(to: 0x…, value: 5) → true`; the selector if the function is not known. */
export function callText(node: Node): string {
  const selector = selectorOf(node);
  if (!selector) return '';
  const value = ({ name, value }: Result) => (name && !/^arg\d+$/.test(name) ? `${name}: ${plain(value)}` : plain(value));
  const inside = node.read?.input ? `(${node.read.input.parameters.map(value).join(', ')})` : '';
  const results = node.read?.output ? ` → ${node.read.output.map(value).join(', ')}` : '';
  return visible(`${node.read?.method ?? selector}${inside}${results}`);
}

/** The tree as text, one line per call. */
export function treeText(node: Node, depth = 0): string {
  const { frame: { action, type, result }, failed } = node;
  const words = [
    type === 'call' ? (action.callType ?? 'call') : type,
    action.to ?? result?.address ?? action.refundAddress ?? '',
    callText(node),
    action.value && action.value !== '0x0' ? `value ${BigInt(action.value)}` : '',
    failed === 'here' ? `failed: ${failureOf(node)}` : failed ? 'failed' : '',
  ];
  const line = '  '.repeat(depth) + words.filter(Boolean).join(' ');
  return [line, ...node.calls.map((child) => treeText(child, depth + 1))].join('\n');
}

/** The coin transfers of calls that were not reverted, in order. */
export function coinMoves(root: Node): { from: string; to: string; value: string }[] {
  const { frame: { action, type, result }, isUndone } = root;
  const value = action.value ?? action.balance ?? '0x0';
  const to = type === 'create' ? result?.address : type === 'suicide' ? action.refundAddress : action.to;
  const from = action.from ?? action.address;
  // A delegatecall has the value of the call around it, a callcode gives its value to itself.
  const isMove = !isUndone && BigInt(value) > 0n && !['delegatecall', 'callcode'].includes(action.callType ?? '') && from !== undefined && to !== undefined;
  return [...(isMove ? [{ from, to, value: BigInt(value).toString() }] : []), ...root.calls.flatMap(coinMoves)];
}
