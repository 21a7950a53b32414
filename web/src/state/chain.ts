// Which chain is served, and what its coin is called.
import { call, getJson } from '../api/request.ts';
import { base } from '../start/base.ts';
import { kept } from './kept.ts';

export interface Chain { id: number | null; name: string; symbol: string; known: boolean }

/** As it was at the last visit until the answer is there, so that nothing moves when it comes. */
const last = kept<Chain>(`chain${base}`, { id: null, name: '', symbol: 'coins', known: false }, (text) => JSON.parse(text) as Chain, JSON.stringify);
export const chain = last.value;

interface Names { name: string; nativeCurrency: { symbol: string } }

/** Asks once which chain it is; without an answer amounts stay in coins. */
export async function learnChain(): Promise<void> {
  try {
    const id = Number(await call<string>('eth_chainId', []));
    const { name, nativeCurrency } = await getJson<Names>(`/assets/chains/eip155-${id}.json`);
    last.set({ id, name, symbol: nativeCurrency.symbol, known: name !== `Chain ${id}` });
  } catch {
    setTimeout(() => void learnChain(), 5000);
  }
}
