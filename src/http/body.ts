/** The most bytes of a body: what an order says has room in it many times. */
const MAX_BYTES = 64 * 1_024;

/** The object that a body holds, or what is wrong with it. */
export type Body =
  | { readonly is: 'object'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly is: 'not-json' }
  | { readonly is: 'too-long' };

/** Reads a body as JSON, and no more of it than any that is meant. */
export async function readBody(request: Request): Promise<Body> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BYTES) return { is: 'too-long' };
  const bytes: Uint8Array[] = [];
  let length = 0;
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    length += read.value.byteLength;
    if (length > MAX_BYTES) {
      void reader?.cancel().catch(() => undefined);
      return { is: 'too-long' };
    }
    bytes.push(read.value);
  }
  return parsed(joined(bytes, length));
}

function joined(bytes: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of bytes) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all;
}

function parsed(bytes: Uint8Array): Body {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { is: 'not-json' };
    return { is: 'object', value: value as Readonly<Record<string, unknown>> };
  } catch {
    return { is: 'not-json' };
  }
}
