import classes from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Preformatted text with a copy button. Never interpreted as markup. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span>{label}</span>
        <CopyButton text={code} name={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <pre className={classes.code} dir="auto" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
