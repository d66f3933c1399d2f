/** Names of people and things, as pages, logs and messages show them on one line. */

/** Control characters and line breaks, and what reorders or hides the text around a name. */
const forbidden = '\\p{Cc}\\p{Zl}\\p{Zp}\\u202A-\\u202E\\u2066-\\u2069';
/** Everything else than blanks, format characters and letters without a shape, such as the blank of Braille. */
const visible = '[^\\p{Z}\\p{C}\\p{Default_Ignorable_Code_Point}\\u2800]';

/** A name, with the flag `u`. Private use and unassigned characters count as invisible: most fonts lack them. */
export const namePattern = `^(?=.*${visible})[^${forbidden}]*$`;
/** A name, or nothing. */
export const optionalNamePattern = `^(?:(?=.*${visible})[^${forbidden}]+)?$`;

/** The name that an identity provider reports, without what a name may not contain; `otherwise` if nothing remains. */
export function cleanName(reported: string, otherwise: string): string {
  const name = reported.replace(new RegExp(`[${forbidden}]`, 'gu'), '').trim();
  return new RegExp(namePattern, 'u').test(name) ? name : otherwise;
}
