// The search box: goes to certain matches at once, and suggests others while the reader types.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { getJson } from '../api/request.ts';
import { shortName } from '../format/hash.ts';
import { type SearchItem, nameOf, pageOf } from '../format/search_item.ts';
import { type Guess, guessesOf, searchedText } from '../format/query.ts';
import { blockAt } from '../api/block_times.ts';
import { knownTokens } from '../state/known_tokens.ts';
import { names } from '../state/names.ts';

const PAUSE = 200;
/** The most suggestions that are shown. */
const MAX_SUGGESTIONS = 8;

/** A suggestion: a meaning of the text, or a result of the API. */
interface Suggestion { path?: string; seconds?: number; name: string; kind: string; symbol?: string | null; note?: string; isCertain?: boolean }

export const searchVocabulary = () => ({ names: names.value, tokens: knownTokens().all });

const suggestionOf = (item: SearchItem): Suggestion => ({ path: pageOf(item), name: nameOf(item), kind: item.type, symbol: item.symbol });

/** All suggestions, each path once, whatever the case of its letters; a block that the API found is not guessed too. */
function mergeSuggestions(guesses: Guess[], items: SearchItem[]): Suggestion[] {
  const found = items.map(suggestionOf);
  const isFound = (guess: Guess) => found.some(({ name, kind }) => name === guess.name && kind === guess.kind);
  // Loaded objects come before selectors and topics that the digits may be.
  const isVague = ({ kind }: Guess) => kind === 'as an event' || kind === 'function';
  const all: Suggestion[] = [...guesses.filter((guess) => !isVague(guess) && !isFound(guess)), ...found, ...guesses.filter(isVague)];
  return all.filter((one, index) => !one.path || all.findIndex((other) => other.path?.toLowerCase() === one.path?.toLowerCase()) === index).slice(0, MAX_SUGGESTIONS);
}

/** The path of a suggestion; the block of a time is looked up. */
export async function pathOf({ path, seconds }: Pick<Suggestion, 'path' | 'seconds'>): Promise<string | null> {
  if (path !== undefined) return path;
  const height = seconds === undefined ? null : await blockAt(seconds);
  return height === null ? null : `/block/${height}`;
}

export function SearchBox({ start = '', big }: { start?: string; big?: boolean }) {
  const { route } = useLocation();
  const [words, setWords] = useState(start);
  const [items, setItems] = useState<SearchItem[]>([]);
  const [isOpen, setOpen] = useState(false);
  const suggestions = isOpen ? mergeSuggestions(guessesOf(words, searchVocabulary()), items) : [];
  const [at, setAt] = useState(-1);
  const box = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => setWords(start), [start]);
  useEffect(() => {
    const input = searchedText(words);
    setItems([]);
    setOpen(input !== '' && input !== start);
    if (input.length < 2 || input === start) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      getJson<SearchItem[]>(`/api/v2/search/quick?q=${encodeURIComponent(input)}`, stop.signal).then(setItems, () => setItems([]));
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
    const input = searchedText(words);
    if (!input) return;
    const chosen = suggestions[at] ?? guessesOf(input, searchVocabulary()).find((guess) => guess.isCertain);
    leave((chosen && (await pathOf(chosen))) ?? (await redirectOf(input)) ?? `/search?q=${encodeURIComponent(input)}`);
  };
  const choose = async (one: Suggestion) => {
    const path = await pathOf(one);
    leave(path ?? `/search?q=${encodeURIComponent(searchedText(words))}`);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      // The first Escape closes the suggestions, the second one leaves the box.
      if (suggestions.length === 0) box.current?.blur();
      else event.preventDefault();
      setOpen(false);
    }
    if (!step || suggestions.length === 0) return;
    event.preventDefault();
    setAt((at + step + suggestions.length + 1) % (suggestions.length + 1) === suggestions.length ? -1 : (at + step + suggestions.length) % suggestions.length);
  };
  return (
    <form class={big ? 'search big' : 'search'} role="search" aria-label={big ? 'Search on this page' : 'Search'} onSubmit={go}>
      <input ref={box} type="search" value={words} onInput={(event) => { setAt(-1); setWords(event.currentTarget.value); }} onKeyDown={move} onBlur={() => setTimeout(() => setOpen(false), 200)}
        placeholder="Address, hash, block, date or name" aria-label="Search by address, hash, block, date or name" autocomplete="off" spellcheck={false} maxLength={200}
        role="combobox" list={undefined} aria-expanded={suggestions.length > 0} aria-controls={list} aria-autocomplete="list" aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined} data-search={big ? undefined : ''} />
      {!big && <kbd aria-hidden="true">/</kbd>}
      <ul id={list} role="listbox" aria-label="Suggestions" hidden={suggestions.length === 0}>
        {suggestions.map((item, index) => (
          <li key={`${item.path ?? item.name}${index}`} id={`${list}-${index}`} role="option" aria-selected={index === at} onMouseDown={() => void choose(item)}>
            <bdi>{item.name}</bdi> {item.symbol && <span class="quiet">{shortName(item.symbol, 16)}</span>} <span class="quiet">{item.kind}</span>{item.note && <small class="quiet"> {item.note}</small>}
          </li>
        ))}
      </ul>
    </form>
  );
}

interface Redirect { redirect: boolean; type?: string | null; parameter?: string | null }

/** The path that the API is certain of; otherwise null. */
async function redirectOf(words: string): Promise<string | null> {
  const digits = /^(?:0x)?([0-9a-f]{64})$/i.exec(words)?.[1];
  if (!digits) return null;
  try {
    const { type, parameter } = await getJson<Redirect>(`/api/v2/search/check-redirect?q=0x${digits}`);
    const noun = { block: 'block', transaction: 'tx', user_operation: 'op', address: 'address' }[type ?? ''];
    return noun && parameter ? `/${noun}/${parameter}` : null;
  } catch {
    return null;
  }
}
