// The search box: leads to what is certain, suggests names while they are typed.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { getJson } from '../api/request.ts';
import { shortName } from '../format/hash.ts';
import { type Found, nameOf, pageOf } from '../format/found.ts';
import { type Guess, guessesOf } from '../format/query.ts';
import { tokensOf } from '../format/suspect.ts';
import { blockAt } from '../api/block_times.ts';
import { chain } from '../state/chain.ts';
import { names } from '../state/names.ts';

const PAUSE = 200;
/** Suggestions that are shown at once. */
const MOST = 8;

/** A line below the box: what a text may mean, or what the API found by it. */
interface Suggestion { path?: string; seconds?: number; name: string; kind: string; symbol?: string | null; note?: string; isCertain?: boolean }

export const placeOfNames = () => ({ names: names.value, tokens: tokensOf(chain.value.id) });

const ofFound = (item: Found): Suggestion => ({ path: pageOf(item), name: nameOf(item), kind: item.type, symbol: item.symbol });

/** Each path once, in any spelling of its letters. */
function merged(guesses: Guess[], found: Found[]): Suggestion[] {
  // What is loaded says more than that digits may be those of a function or an event.
  const isVague = ({ kind }: Guess) => kind === 'event' || kind === 'function';
  const all: Suggestion[] = [...guesses.filter((guess) => !isVague(guess)), ...found.map(ofFound), ...guesses.filter(isVague)];
  return all.filter((one, index) => !one.path || all.findIndex((other) => other.path?.toLowerCase() === one.path?.toLowerCase()) === index).slice(0, MOST);
}

/** The path of a suggestion; of a time that of its block, which is asked for. */
export async function pathOf({ path, seconds }: Pick<Suggestion, 'path' | 'seconds'>): Promise<string | null> {
  if (path !== undefined) return path;
  const height = seconds === undefined ? null : await blockAt(seconds);
  return height === null ? null : `/block/${height}`;
}

export function SearchBox({ start = '', big }: { start?: string; big?: boolean }) {
  const { route } = useLocation();
  const [words, setWords] = useState(start);
  const [items, setItems] = useState<Found[]>([]);
  const [isOpen, setOpen] = useState(false);
  const found = isOpen ? merged(guessesOf(words, placeOfNames()), items) : [];
  const [at, setAt] = useState(-1);
  const box = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => setWords(start), [start]);
  useEffect(() => {
    const typed = words.trim();
    setItems([]);
    setOpen(typed !== '' && typed !== start);
    if (typed.length < 2 || typed === start) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      getJson<Found[]>(`/api/v2/search/quick?q=${encodeURIComponent(typed)}`, stop.signal).then(setItems, () => setItems([]));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words]);
  const leave = (page: string) => {
    setOpen(false);
    setWords(big ? words : '');
    box.current?.blur();
    route(page);
  };
  const go = async (event: Event) => {
    event.preventDefault();
    const typed = words.trim();
    if (!typed) return;
    const chosen = found[at] ?? guessesOf(typed, placeOfNames()).find((guess) => guess.isCertain);
    leave((chosen && (await pathOf(chosen))) ?? (await redirectOf(typed)) ?? `/search?q=${encodeURIComponent(typed)}`);
  };
  const choose = async (one: Suggestion) => {
    const path = await pathOf(one);
    leave(path ?? `/search?q=${encodeURIComponent(words.trim())}`);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      // Once for the suggestions, and once more to leave the box.
      if (found.length === 0) box.current?.blur();
      else event.preventDefault();
      setOpen(false);
    }
    if (!step || found.length === 0) return;
    event.preventDefault();
    setAt((at + step + found.length + 1) % (found.length + 1) === found.length ? -1 : (at + step + found.length) % found.length);
  };
  return (
    <form class={big ? 'search big' : 'search'} role="search" onSubmit={go}>
      <input ref={box} type="search" value={words} onInput={(event) => { setAt(-1); setWords(event.currentTarget.value); }} onKeyDown={move} onBlur={() => setTimeout(() => setOpen(false), 200)}
        placeholder="Address, hash, block, date or name" aria-label="Search by address, hash, block, date or name" autocomplete="off" spellcheck={false} maxLength={200}
        role="combobox" list={undefined} aria-expanded={found.length > 0} aria-controls={list} aria-autocomplete="list" aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined} data-search={big ? undefined : ''} />
      {!big && <kbd aria-hidden="true">/</kbd>}
      <ul id={list} role="listbox" aria-label="Suggestions" hidden={found.length === 0}>
        {found.map((item, index) => (
          <li key={`${item.path ?? item.name}${index}`} id={`${list}-${index}`} role="option" aria-selected={index === at} onMouseDown={() => void choose(item)}>
            <bdi>{item.name}</bdi> {item.symbol && <span class="quiet">{shortName(item.symbol, 16)}</span>} <span class="quiet">{item.kind}</span>{item.note && <small class="quiet"> {item.note}</small>}
          </li>
        ))}
      </ul>
    </form>
  );
}

interface Redirect { redirect: boolean; type?: string | null; parameter?: string | null }

/** Where the API is certain that a text leads; null if it is not. */
async function redirectOf(words: string): Promise<string | null> {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(words)?.[1];
  if (!digits) return null;
  try {
    const { type, parameter } = await getJson<Redirect>(`/api/v2/search/check-redirect?q=0x${digits}`);
    const noun = { block: 'block', transaction: 'tx', address: 'address' }[type ?? ''];
    return noun && parameter ? `/${noun}/${parameter}` : null;
  } catch {
    return null;
  }
}
