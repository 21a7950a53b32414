// The title of the page in the browser. Until the page is drawn it is that of the server: src/web/head.rs.
import { useEffect } from 'preact/hooks';
import { chain } from '../state/chain.ts';
import { visible } from '../format/hash.ts';

export function useTitle(text: string): void {
  const { name } = chain.value;
  useEffect(() => {
    document.title = [text && visible(text).slice(0, 80), name, 'Trawl'].filter(Boolean).join(' · ');
  }, [text, name]);
}
