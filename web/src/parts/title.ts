// The title of the page in the browser.
import { useEffect } from 'preact/hooks';
import { visible } from '../format/hash.ts';

export function useTitle(text: string): void {
  useEffect(() => {
    document.title = text ? `${visible(text).slice(0, 80)} · Trawl` : 'Trawl';
  }, [text]);
}
