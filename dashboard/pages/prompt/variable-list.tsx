import type { Variable, VariablePlace } from '../../data/prompts/templates.ts';
import classes from './editor.module.css';

/** The draft's variables and where they occur. */
export function VariableList(props: {
  readonly variables: readonly Variable[];
  readonly onAim: (place: VariablePlace) => void;
}) {
  if (props.variables.length === 0) {
    return (
      <p className={classes.none}>
        No variables yet. Write <code>{'{{name}}'}</code> where each call should insert a value.
      </p>
    );
  }
  return (
    <ul className={classes.variables}>
      {props.variables.map(({ name, places }) => (
        <li key={name}>
          <code>{name}</code>
          <span className={classes.places}>
            {places.slice(0, shownMax).map((place) => (
              <button
                key={`${place.template} ${place.offset}`}
                type="button"
                aria-label={`${place.template} ${place.line}: go to ${name}`}
                onClick={() => props.onAim(place)}
              >
                {place.template} {place.line}
              </button>
            ))}
            {places.length > shownMax && <span>and {places.length - shownMax} more</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

const shownMax = 6;
