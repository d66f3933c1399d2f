import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';
import classes from './page-header.module.css';

/** The first page was asked for from outside: there the reading begins at the top, as anywhere. */
let arrived = false;

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
  readonly parent?: Parent;
  readonly actions?: ReactNode;
}) {
  const { title, badge, description, parent, actions } = props;
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
        {description && <div className={classes.description}>{description}</div>}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </header>
  );
}
