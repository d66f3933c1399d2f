import { useMemo } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import classes from './markdown.module.css';

/**
 * What a model wrote. Its HTML is shown as text. It loads nothing, because a request for an image would tell the image's
 * server who reads this: images, and links that do not lead into the web, are shown as they were written.
 */
export default function Markdown({ text }: { readonly text: string }) {
  const components = useMemo(() => componentsFor(text), [text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard.
    <section className={classes.markdown} aria-label="Output as Markdown" tabIndex={0}>
      <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={webAddress}>
        {text}
      </ReactMarkdown>
    </section>
  );
}

const plugins = [remarkGfm];

function componentsFor(text: string): Components {
  const written = ({ node }: ExtraProps) =>
    text.slice(node?.position?.start.offset ?? 0, node?.position?.end.offset ?? 0);
  return {
    // Below the headings of the page around it.
    h1: ({ children }) => <h3>{children}</h3>,
    h2: ({ children }) => <h4>{children}</h4>,
    h3: ({ children }) => <h5>{children}</h5>,
    h4: ({ children }) => <h6>{children}</h6>,
    h5: ({ children }) => <h6>{children}</h6>,
    img: written,
    a: ({ node, href, children }) =>
      href ? (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
          {children}
        </a>
      ) : (
        written({ node })
      ),
    // Task list items: omits a checkbox that nobody can use.
    input: ({ checked }) => (checked ? '☑' : '☐'),
  };
}

/** As the browser would parse it, so that no spelling hides another scheme. */
function webAddress(address: string): string {
  // `URL.parse` is younger than the browsers that the build is for.
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : '';
}
