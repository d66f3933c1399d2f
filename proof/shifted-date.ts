/**
 * Imported first by a process whose own clock is to be wrong by `CUELINE_CLOCK_OFF_MS`: everything that tells the date
 * is; what only measures durations is not, as on a machine whose clock was set wrong.
 */

const offMs = Number(process.env.CUELINE_CLOCK_OFF_MS);
delete process.env.CUELINE_CLOCK_OFF_MS;
const Right = Date;
const nowMs = () => Right.now() + offMs;

globalThis.Date = new Proxy(Right, {
  apply: () => new Right(nowMs()).toString(),
  construct: (_target, given, made) =>
    Reflect.construct(Right, given.length === 0 ? [nowMs()] : given, made),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
});
