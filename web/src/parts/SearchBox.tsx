// The search box: leads to what is certain, suggests names while they are typed.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { getJson } from '../api/request.ts';
import { certainPage, isHash, shortName } from '../format/hash.ts';
import { type Found, nameOf, pageOf } from '../format/found.ts';

const PAUSE = 200;

export function SearchBox({ start = '', big }: { start?: string; big?: boolean }) {
  const { route } = useLocation();
  const [words, setWords] = useState(start);
  const [found, setFound] = useState<Found[]>([]);
  const [at, setAt] = useState(-1);
  const box = useRef<HTMLInputElement>(null);
  const list = useId();
  useEffect(() => setWords(start), [start]);
  useEffect(() => {
    const typed = words.trim();
    setAt(-1);
    if (typed.length < 2 || typed === start) {
      setFound([]);
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      getJson<Found[]>(`/api/v2/search/quick?q=${encodeURIComponent(typed)}`, stop.signal).then((items) => setFound(items.slice(0, 8)), () => setFound([]));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words]);
  const leave = (page: string) => {
    setFound([]);
    setWords(big ? words : '');
    box.current?.blur();
    route(page);
  };
  const go = async (event: Event) => {
    event.preventDefault();
    const chosen = found[at];
    const typed = words.trim();
    if (chosen) leave(pageOf(chosen));
    else if (!typed) return;
    else leave(certainPage(typed) ?? (await redirectOf(typed)) ?? `/search?q=${encodeURIComponent(typed)}`);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      // Once for the suggestions, and once more to leave the box.
      if (found.length === 0) box.current?.blur();
      else event.preventDefault();
      setFound([]);
    }
    if (!step || found.length === 0) return;
    event.preventDefault();
    setAt((at + step + found.length + 1) % (found.length + 1) === found.length ? -1 : (at + step + found.length) % found.length);
  };
  return (
    <form class={big ? 'search big' : 'search'} role="search" onSubmit={go}>
      <input ref={box} type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} onKeyDown={move} onBlur={() => setTimeout(() => setFound([]), 200)}
        placeholder="Address, hash, block or name" aria-label="Search by address, hash, block or name" autocomplete="off" spellcheck={false} maxLength={200}
        role="combobox" list={undefined} aria-expanded={found.length > 0} aria-controls={list} aria-autocomplete="list" aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined} data-search={big ? undefined : ''} />
      {!big && <kbd aria-hidden="true">/</kbd>}
      <ul id={list} role="listbox" aria-label="Suggestions" hidden={found.length === 0}>
        {found.map((item, index) => (
          <li key={pageOf(item) + index} id={`${list}-${index}`} role="option" aria-selected={index === at} onMouseDown={() => leave(pageOf(item))}>
            <bdi>{nameOf(item)}</bdi> {item.symbol && <span class="quiet">{shortName(item.symbol, 16)}</span>} <span class="quiet">{item.type}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

interface Redirect { redirect: boolean; type?: string | null; parameter?: string | null }

/** Where the API is certain that a text leads; null if it is not. */
async function redirectOf(words: string): Promise<string | null> {
  if (!isHash(words)) return null;
  try {
    const { type, parameter } = await getJson<Redirect>(`/api/v2/search/check-redirect?q=${encodeURIComponent(words)}`);
    const noun = { block: 'block', transaction: 'tx', address: 'address' }[type ?? ''];
    return noun && parameter ? `/${noun}/${parameter}` : null;
  } catch {
    return null;
  }
}
