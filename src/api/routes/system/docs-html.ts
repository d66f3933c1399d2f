/** Text into HTML, for the reference page. Everything that comes from the document goes through here. */

export function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The little of Markdown that the descriptions use within a line: code and bold. */
export function inline(text: string): string {
  return toHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** Paragraphs, parted by an empty line. */
export function prose(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => `<p>${inline(paragraph)}</p>`);
  return paragraphs.join('\n');
}

/** A block of code under its name. It can be scrolled with the keyboard, so it takes the focus. */
export function codeBlock(title: string, html: string): string {
  return `<figure class="code"><figcaption>${toHtml(title)}</figcaption><pre tabindex="0" aria-label="${toHtml(title)}"><code>${html}</code></pre></figure>`;
}

/** JSON with its names, texts and other values told apart. */
export function json(value: unknown): string {
  const token = /("(?:[^"\\]|\\.)*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g;
  let html = '';
  let at = 0;
  const text = JSON.stringify(value, null, 2);
  for (const match of text.matchAll(token)) {
    const [all, string, colon] = match;
    const kind = colon ? 'name' : string ? 'text' : 'value';
    html += toHtml(text.slice(at, match.index));
    html += `<span class="${kind}">${toHtml(string ?? all)}</span>${colon ?? ''}`;
    at = match.index + all.length;
  }
  return html + toHtml(text.slice(at));
}

/** A `$VARIABLE` or a `{parameter}` stands out in a path or a command. */
export function marked(text: string): string {
  return toHtml(text).replaceAll(/\{\w+\}|\$[A-Z_]+/g, '<var>$&</var>');
}
