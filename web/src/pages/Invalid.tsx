// A page whose address names no object: what one looks like, without a request.
import { visible } from '../format/hash.ts';
import { useTitle } from '../parts/title.ts';

const RULES = {
  'an address': '0x and 40 hexadecimal digits', 'a token': 'the address of its contract, 0x and 40 hexadecimal digits, and for an id a decimal number',
  'a transaction': 'its hash, 0x and 64 hexadecimal digits', 'a block': 'its number, or its hash, 0x and 64 hexadecimal digits',
};

export function Invalid({ what, text }: { what: keyof typeof RULES; text: string }) {
  useTitle(`Not ${what}`);
  return (
    <>
      <h1>Not {what}</h1>
      <p class="failure lack" role="alert"><bdi>{visible(text).slice(0, 100)}</bdi> does not name {what}, which is given by {RULES[what]}.</p>
      <p><a href={`/search?q=${encodeURIComponent(text)}`}>Search for it</a></p>
    </>
  );
}
