import { CopyButton } from './copy-button.tsx';
import classes from './identifier.module.css';

/** The id of a resource with a copy button. */
export function Identifier(props: { readonly id: string; readonly name: string }) {
  return (
    <div className={classes.id}>
      <code>{props.id}</code>
      <CopyButton text={props.id} name={props.name} />
    </div>
  );
}
