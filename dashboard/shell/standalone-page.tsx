import { type ReactNode, useEffect } from 'react';
import { Logo } from './logo.tsx';
import classes from './standalone-page.module.css';

/** The layout of pages outside the shell, such as sign-in. */
export function StandalonePage(props: {
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${props.title} · Cueline`;
  }, [props.title]);
  return (
    <main className={classes.gate}>
      <div className={classes.card}>
        <div className={classes.name}>
          <Logo size={32} /> Cueline
        </div>
        <h1>{props.title}</h1>
        {props.description && <p>{props.description}</p>}
        {props.children}
      </div>
    </main>
  );
}
