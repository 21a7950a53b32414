// The chain that the server has, and the symbol of its coin.
import { call, getJson } from '../api/request.ts';
import { base } from '../start/base.ts';
import { storedSignal } from './storage.ts';

export interface Chain { id: number | null; name: string; symbol: string; known: boolean }

/** The chain of the last visit until the answer arrives, so that the layout does not shift. */
const store = storedSignal<Chain>(`chain${base}`, { id: null, name: '', symbol: 'coins', known: false }, (text) => JSON.parse(text) as Chain, JSON.stringify);
export const chain = store.value;

interface Names { name: string; nativeCurrency: { symbol: string } }

/** Loads the chain, and retries on failure; until then amounts are in "coins". */
export async function loadChain(): Promise<void> {
  try {
    const id = Number(await call<string>('eth_chainId', []));
    const { name, nativeCurrency } = await getJson<Names>(`/assets/chains/eip155-${id}.json`);
    store.set({ id, name, symbol: nativeCurrency.symbol, known: name !== `Chain ${id}` });
  } catch {
    setTimeout(() => void loadChain(), 5000);
  }
}
