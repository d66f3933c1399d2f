import type { ReactNode } from 'react';
import classes from './list.module.css';

/**
 * A name with text about it on one line, cut off with an ellipsis; on narrow screens the text is below the name. The whole
 * text is in the tooltip.
 */
export function NameCell(props: { readonly name: ReactNode; readonly about?: string | null }) {
  const { name, about } = props;
  return (
    <div className={classes.line}>
      {name}
      {about && (
        <span className={classes.about} title={about} dir="auto">
          {about}
        </span>
      )}
    </div>
  );
}

/** What the link to a row's page has besides its target. */
export function rowLink(name: string) {
  return { className: classes.name, title: name, dir: 'auto', 'data-row-link': true } as const;
}
