import { Link } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect } from 'react';
import { useHeadingFocus } from '../hooks/heading-focus.ts';
import { Icon } from '../icon.tsx';
import { lazyComponent } from '../loading/lazy-component.tsx';
import classes from './page-header.module.css';

/** Few pages have one, and not the first. */
const About = lazyComponent(() => import('./about.tsx'));
/** Three lines of text. */
const aboutMaxPx = 63;

interface Parent {
  readonly label: string;
  readonly to: string;
}

/** The header of every page: title, breadcrumb and actions. Also sets the document title. */
export function PageHeader(props: {
  readonly title: string;
  /** Next to the title, for example a state and the id. */
  readonly badge?: ReactNode;
  readonly description?: ReactNode;
  /** User-written text of any length; collapsed to three lines. */
  readonly about?: string | null;
  readonly parent?: Parent;
  readonly actions?: ReactNode;
}) {
  const { title, badge, description, about, parent, actions } = props;
  useEffect(() => {
    document.title = `${title} · Cueline`;
  }, [title]);
  const heading = useHeadingFocus();
  return (
    <header className={classes.header}>
      <div className={classes.text}>
        <div className={classes.title}>
          {parent && (
            <nav aria-label="Breadcrumb" className={classes.parent}>
              <Link to={parent.to}>{parent.label}</Link>
              <Icon name="right" size={12} />
            </nav>
          )}
          <h1 ref={heading} dir="auto" tabIndex={-1}>
            {title}
          </h1>
          {badge}
        </div>
        {(about || description) && (
          <div className={classes.description}>
            {about && (
              <Suspense
                fallback={
                  <div
                    className={classes.about}
                    dir="auto"
                    style={{ maxHeight: aboutMaxPx, overflow: 'hidden' }}
                  >
                    {about}
                  </div>
                }
              >
                <About text={about} heightMaxPx={aboutMaxPx} className={classes.about} />
              </Suspense>
            )}
            {description}
          </div>
        )}
      </div>
      {actions && <div className="row">{actions}</div>}
    </header>
  );
}
