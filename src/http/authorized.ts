import type { HttpAction, HttpOptions } from './http-options.js';
import { refusal } from './replies.js';

/** What may be done, and in whose name if that is known; or what is answered instead. */
export type Authorized = { readonly by: string | undefined } | { readonly refused: Response };

/** Asks whether a request may do what it wants; whoever was not asked, or throws, has not said yes. */
export async function authorized(
  authorize: HttpOptions['authorize'],
  request: Request,
  action: HttpAction,
): Promise<Authorized> {
  if (authorize === undefined) {
    if (action === 'read') return { by: undefined };
    return { refused: refusal(403, 'forbidden', 'Without authorize no order is carried out.') };
  }
  try {
    const said: unknown = await authorize(request, action);
    if (said === true) return { by: undefined };
    if (said instanceof Response) return { refused: said };
    if (typeof said === 'object' && said !== null && 'by' in said && typeof said.by === 'string')
      return { by: said.by };
  } catch {
    // Refused below.
  }
  return { refused: refusal(403, 'forbidden', 'You may not do this.') };
}
