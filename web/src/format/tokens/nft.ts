// Metadata of NFTs, as far as it is in the URI itself: nothing is fetched from elsewhere.
export interface Metadata { name: string | null; description: string | null; image: string | null; traits: [string, string][] }

const textOrNull = (value: unknown) => (typeof value === 'string' && value ? value : null);

/** The media type and the bytes of a `data:` URI (RFC 2397); `null` for other texts. */
export function dataOf(uri: string): { type: string; bytes: Uint8Array } | null {
  const found = /^data:([^,;]*)((?:;[^,;]*)*),(.*)$/s.exec(uri);
  if (!found) return null;
  const [, type = '', more = '', body = ''] = found;
  try {
    const text = more.split(';').includes('base64') ? atob(body.replace(/\s/g, '')) : null;
    const bytes = text === null ? new TextEncoder().encode(decodeURIComponent(body)) : Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return { type: type || 'text/plain', bytes };
  } catch {
    return null;
  }
}

/** The metadata in a `data:` URI (ERC-721, ERC-1155); `null` if it is elsewhere, or not an object. */
export function metadataOf(uri: string): Metadata | null {
  const data = dataOf(uri);
  if (data?.type !== 'application/json') return null;
  try {
    const object = JSON.parse(new TextDecoder().decode(data.bytes)) as Record<string, unknown>;
    const traits = Array.isArray(object['attributes']) ? (object['attributes'] as Record<string, unknown>[]) : [];
    return {
      name: textOrNull(object['name']), description: textOrNull(object['description']), image: textOrNull(object['image'] ?? object['image_data']),
      traits: traits.filter((trait) => trait && typeof trait === 'object').map((trait) => [String(trait['trait_type'] ?? ''), String(trait['value'] ?? '')]),
    };
  } catch {
    return null;
  }
}

/** An image in the metadata itself, which is shown without a request; an SVG runs no script as an image. */
export const pictureOf = (image: string | null): string | null => (image && /^data:image\/(svg\+xml|png|gif|jpeg|webp|avif)[;,]/.test(image) && image.length < 2_000_000 ? image : null);
