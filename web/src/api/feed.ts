// The newest block as the API announces it over a WebSocket, which is reopened when it closes.
import { signal } from '@preact/signals';
import { serverPath } from '../start/base.ts';

/** The state of the connection. */
export const feedState = signal<'connecting' | 'live' | 'lost'>('connecting');

/** The newest head that was announced, with its hash; a new value means that lists have changed. */
export const latestHead = signal<{ number: number; hash: string } | null>(null);

const MAX_PAUSE = 15_000;
let subscribers = 0;
let socket: WebSocket | undefined;
let pause = 500;
let timer: ReturnType<typeof setTimeout> | undefined;

function connect(): void {
  feedState.value = feedState.peek() === 'lost' ? 'lost' : 'connecting';
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  const opened = new WebSocket(`${scheme}://${location.host}${serverPath('/rpc')}`);
  socket = opened;
  opened.onopen = () => opened.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  opened.onmessage = (event) => {
    const message = JSON.parse(String(event.data)) as { id?: number; result?: string; params?: { result?: { number: string; hash: string } } };
    if (message.id === 1 && message.result) {
      // Lists are refreshed after a reconnect, since blocks may have come meanwhile.
      if (feedState.peek() === 'lost') latestHead.value = { number: -1, hash: String(Math.random()) };
      feedState.value = 'live';
      pause = 500;
    }
    const head = message.params?.result;
    if (head) latestHead.value = { number: Number(head.number), hash: head.hash };
  };
  opened.onclose = () => {
    if (subscribers === 0 || socket !== opened) return;
    feedState.value = 'lost';
    timer = setTimeout(connect, pause);
    pause = Math.min(pause * 2, MAX_PAUSE);
  };
}

/** Keeps the feed open until the returned function is called. */
export function openFeed(): () => void {
  subscribers += 1;
  if (subscribers === 1) connect();
  return () => {
    subscribers -= 1;
    if (subscribers > 0) return;
    clearTimeout(timer);
    socket?.close();
    socket = undefined;
  };
}
