// Requests to the API of the same origin, and what can go wrong with them.
import { serverPath } from '../start/base.ts';
import type { MissingRange } from './types.ts';

/** Why there is no answer, with a message that can be shown. */
export class Problem extends Error {
  /** The HTTP status; 0 if the API could not be reached. */
  readonly status: number;
  readonly missing: MissingRange[];

  constructor(status: number, message: string, missing: MissingRange[] = []) {
    super(message);
    this.status = status;
    this.missing = missing;
  }
}

interface ErrorBody {
  message?: string;
  errors?: { title?: string; detail?: string; source?: { pointer?: string } }[];
  data?: { missing?: MissingRange[] };
}

/** The problem that the body of an answer describes. */
export function problemOf(status: number, text: string): Problem {
  let body: ErrorBody = {};
  try {
    body = JSON.parse(text) as ErrorBody;
  } catch {
    return new Problem(status, text.trim().slice(0, 300) || `status ${status} without a text`);
  }
  const details = (body.errors ?? []).map((error) => [error.source?.pointer, error.detail].filter(Boolean).join(': '));
  const message = [body.message, ...details].filter(Boolean).join('. ');
  return new Problem(status, message || `status ${status}`, body.data?.missing ?? []);
}

const unreachable = () => new Problem(0, 'The API cannot be reached.');

/** Error statuses that have an answer as their body: that of the health says what is wrong. */
const STATUSES_WITH_ANSWER: Record<string, number> = { '/api/health': 503 };

/** The request for a path that the start script has sent, which is used once. */
function takeEarlyRequest(path: string): Promise<Response> | undefined {
  const early = window.trawlEarly?.[path];
  if (early && window.trawlEarly) delete window.trawlEarly[path];
  return early;
}

/** The JSON at a path; a failure is a `Problem`. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  let text: string;
  try {
    const send = () => fetch(serverPath(path), { headers: { accept: 'application/json' }, ...(signal && { signal }) });
    response = await (takeEarlyRequest(path) ?? send());
    text = await response.text();
  } catch (failure) {
    if (signal?.aborted) throw failure;
    throw unreachable();
  }
  if (!response.ok && !(STATUSES_WITH_ANSWER[path] === response.status && text.startsWith('{'))) throw problemOf(response.status, text);
  return JSON.parse(text) as T;
}

/** The result of a JSON-RPC call. */
export async function call<T>(method: string, params: unknown[]): Promise<T> {
  let answer: { result?: T; error?: { code: number; message: string; data?: { missing?: MissingRange[] } } };
  try {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(serverPath('/rpc'), { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    answer = await response.json();
  } catch {
    throw unreachable();
  }
  if (answer.error) throw new Problem(answer.error.code, answer.error.message, answer.error.data?.missing);
  return answer.result as T;
}

/** The results of many JSON-RPC calls in one request, in their order; a call that failed is its problem. */
export async function batch<T>(calls: [method: string, params: unknown[]][]): Promise<(T | Problem)[]> {
  type Reply = { id: number; result?: T; error?: { code: number; message: string } };
  let replies: Reply[] | Reply;
  try {
    const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })));
    replies = await (await fetch(serverPath('/rpc'), { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json();
  } catch {
    throw unreachable();
  }
  if (!Array.isArray(replies)) throw new Problem(replies.error?.code ?? 0, replies.error?.message ?? 'no answer');
  const byId = new Map(replies.map((reply) => [reply.id, reply]));
  return calls.map((_, id) => {
    const reply = byId.get(id);
    return reply?.error || !reply ? new Problem(reply?.error?.code ?? 0, reply?.error?.message ?? 'no answer') : (reply.result as T);
  });
}
