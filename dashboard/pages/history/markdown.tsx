import { createElement } from 'react';
import classes from './markdown.module.css';
import { type Block, blocksOf } from './markdown-blocks.ts';
import { type Span, spansOf } from './markdown-spans.ts';

/** What a model wrote, as elements that we make from text alone: nothing of it can become markup of its own. */
export default function Markdown({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <section className={classes.markdown} aria-label="Output as Markdown" tabIndex={0}>
      {numbered(blocksOf(text)).map(({ key, one }) => (
        <BlockOf key={key} block={one} />
      ))}
    </section>
  );
}

function BlockOf({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      // Below the headings of the page that it stands in.
      return createElement(`h${Math.min(6, block.level + 2)}`, null, <Line text={block.text} />);
    case 'paragraph':
      return (
        <p>
          <Line text={block.text} />
        </p>
      );
    case 'quote':
      return (
        <blockquote>
          <Line text={block.text} />
        </blockquote>
      );
    case 'code':
      return (
        <pre>
          <code>{block.text}</code>
        </pre>
      );
    case 'rule':
      return <hr />;
    case 'list':
      return createElement(
        block.ordered ? 'ol' : 'ul',
        null,
        numbered(block.items).map(({ key, one }) => (
          <li key={key}>
            <Line text={one} />
          </li>
        )),
      );
    case 'table':
      return <Rows rows={block.rows} />;
  }
}

function Rows({ rows }: { readonly rows: readonly (readonly string[])[] }) {
  const [head = [], ...body] = rows;
  return (
    <table>
      <thead>
        <tr>
          {numbered(head).map(({ key, one }) => (
            <th key={key} scope="col">
              <Line text={one} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {numbered(body).map(({ key, one }) => (
          <tr key={key}>
            {numbered(one).map((cell) => (
              <td key={cell.key}>
                <Line text={cell.one} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Line({ text }: { readonly text: string }) {
  return numbered(spansOf(text)).map(({ key, one }) => <SpanOf key={key} span={one} />);
}

function SpanOf({ span }: { readonly span: Span }) {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'code':
      return <code>{span.text}</code>;
    case 'strong':
      return <strong>{span.text}</strong>;
    case 'emphasis':
      return <em>{span.text}</em>;
    case 'link':
      return (
        <a href={span.href} target="_blank" rel="noopener noreferrer nofollow" title={span.href}>
          {span.text}
        </a>
      );
  }
}

/** The text never changes once it is shown, so its places are names enough. */
function numbered<One>(all: readonly One[]): { key: number; one: One }[] {
  return all.map((one, key) => ({ key, one }));
}
