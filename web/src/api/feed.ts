// The newest block as the API announces it, over a WebSocket that is opened again when it closes.
import { signal } from '@preact/signals';
import { onServer } from '../start/base.ts';

/** State of the connection. */
export const feedState = signal<'connecting' | 'live' | 'lost'>('connecting');

/** The height that was announced last, and its hash; a new value means that lists have changed. */
export const announced = signal<{ number: number; hash: string } | null>(null);

const LONGEST_PAUSE = 15_000;
let users = 0;
let socket: WebSocket | undefined;
let pause = 500;
let timer: ReturnType<typeof setTimeout> | undefined;

function open(): void {
  feedState.value = feedState.peek() === 'lost' ? 'lost' : 'connecting';
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  const opened = new WebSocket(`${scheme}://${location.host}${onServer('/rpc')}`);
  socket = opened;
  opened.onopen = () => opened.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  opened.onmessage = (event) => {
    const message = JSON.parse(String(event.data)) as { id?: number; result?: string; params?: { result?: { number: string; hash: string } } };
    if (message.id === 1 && message.result) {
      // Blocks that came while the connection was away are asked for.
      if (feedState.peek() === 'lost') announced.value = { number: -1, hash: String(Math.random()) };
      feedState.value = 'live';
      pause = 500;
    }
    const head = message.params?.result;
    if (head) announced.value = { number: Number(head.number), hash: head.hash };
  };
  opened.onclose = () => {
    if (users === 0 || socket !== opened) return;
    feedState.value = 'lost';
    timer = setTimeout(open, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  };
}

/** Keeps the feed open until the returned function is called. */
export function follow(): () => void {
  users += 1;
  if (users === 1) open();
  return () => {
    users -= 1;
    if (users > 0) return;
    clearTimeout(timer);
    socket?.close();
    socket = undefined;
  };
}
