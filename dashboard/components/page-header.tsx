import { Spoiler } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';
import classes from './page-header.module.css';

/** The first page was asked for from outside: there the reading begins at the top, as anywhere. */
let arrived = false;

/** Three lines. */
const aboutMaxPx = 63;

interface Parent {
  readonly label: string;
  readonly to: string;
}

/** The top of every page: what it is, where it belongs, what can be done with it. Names the browser's tab, too. */
export function PageHeader(props: {
  readonly title: string;
  /** Beside the title: a state, for example. */
  readonly badge?: ReactNode;
  readonly description?: ReactNode;
  /** What someone wrote about it, of any length: of much of it the first lines, all of it where that is asked for. */
  readonly about?: string | null;
  readonly parent?: Parent;
  readonly actions?: ReactNode;
}) {
  const { title, badge, description, about, parent, actions } = props;
  useEffect(() => {
    document.title = `${title} · Cueline`;
  }, [title]);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // Of a page that someone has gone to the heading is read out, and the keyboard goes on from it.
    if (arrived) heading.current?.focus({ preventScroll: true });
    arrived = true;
  }, []);
  return (
    <header className={classes.header}>
      <div className={classes.words}>
        {parent && (
          <nav aria-label="Breadcrumb" className={classes.parent}>
            <Link to={parent.to}>{parent.label}</Link>
            <Icon name="right" size={12} />
          </nav>
        )}
        <div className={classes.title}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {(about || description) && (
          <div className={classes.description}>
            {about && (
              <Spoiler
                className={classes.about}
                maxHeight={aboutMaxPx}
                showLabel="Show all of it"
                hideLabel="Show less"
              >
                {about}
              </Spoiler>
            )}
            {description}
          </div>
        )}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </header>
  );
}
