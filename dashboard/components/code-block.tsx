import classes from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Text that is shown as it is, and meant to be copied. Never rendered as anything else. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span>{label}</span>
        <CopyButton text={code} what={label} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard. */}
      <pre className={classes.code} tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
