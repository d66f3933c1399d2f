/** What stands within a line of Markdown. */
export type Span =
  | { readonly kind: 'text' | 'code' | 'strong' | 'emphasis'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

/**
 * Each alternative is bounded, so that no text makes it go far back and forth. An image comes first, to be left as the
 * text it is: fetching one would tell its server who reads this.
 */
const mark =
  /(!\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\))|`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|\*([^*\s][^*\n]{0,2000})\*|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})\)|(https?:\/\/[^\s<>)\]"']{1,2000})/g;

export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let read = 0;
  for (const found of text.matchAll(mark)) {
    if (found.index > read) spans.push({ kind: 'text', text: text.slice(read, found.index) });
    spans.push(spanOf(found));
    read = found.index + found[0].length;
  }
  if (read < text.length) spans.push({ kind: 'text', text: text.slice(read) });
  return spans;
}

function spanOf([
  all,
  image,
  code,
  strong,
  emphasis,
  label,
  target,
  address,
]: RegExpMatchArray): Span {
  if (image !== undefined) return { kind: 'text', text: all };
  if (code !== undefined) return { kind: 'code', text: code };
  if (strong !== undefined) return { kind: 'strong', text: strong };
  if (emphasis !== undefined) return { kind: 'emphasis', text: emphasis };
  const href = webAddress(target ?? address ?? '');
  // Of a link that leads elsewhere than into the web all of it is shown, and none of it leads.
  return href === null ? { kind: 'text', text: all } : { kind: 'link', text: label ?? all, href };
}

/** As the browser would read it, so that no trick of spelling makes another scheme of it. */
function webAddress(text: string): string | null {
  // `URL.parse` is younger than the browsers that the build is for.
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}
