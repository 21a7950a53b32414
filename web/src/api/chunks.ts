// The body of an answer as text, piece by piece.
import { Problem } from './request.ts';

/** The pieces of the text, each with its size in bytes; the last one may be empty. Fails if the transfer breaks off. */
export async function* textChunks(response: Response, signal: AbortSignal): AsyncGenerator<{ text: string; bytes: number }> {
  if (!response.body) throw new Problem(0, 'The answer has no body.');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    let chunk: ReadableStreamReadResult<Uint8Array>;
    try {
      chunk = await reader.read();
    } catch (failure) {
      if (signal.aborted) throw failure;
      throw new Problem(0, 'The transfer was interrupted, so these rows are incomplete.');
    }
    yield { text: chunk.done ? decoder.decode() : decoder.decode(chunk.value, { stream: true }), bytes: chunk.value?.length ?? 0 };
    if (chunk.done) return;
  }
}
