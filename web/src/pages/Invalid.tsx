// A page whose address names no object: what one looks like, without a request.
import { visible } from '../format/hash.ts';
import { useTitle } from '../parts/title.ts';

const RULES = {
  address: '0x and 40 hexadecimal digits', token: 'a contract address, 0x and 40 hexadecimal digits, and a decimal token ID',
  transaction: 'a hash, 0x and 64 hexadecimal digits', block: 'a number, or a hash, 0x and 64 hexadecimal digits',
};

export function Invalid({ what, text }: { what: keyof typeof RULES; text: string }) {
  useTitle(`Invalid ${what}`);
  return (
    <>
      <h1>Invalid {what}</h1>
      <p class="failure lack" role="alert"><bdi>{visible(text).slice(0, 100)}</bdi> is not a valid {what}: expected {RULES[what]}.</p>
      <p><a href={`/search?q=${encodeURIComponent(text)}`}>Search for it</a></p>
    </>
  );
}
