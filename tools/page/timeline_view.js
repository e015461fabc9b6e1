// What timelines that are zoomed together show of one axis of time, and how wide the names beside it are.
const timeView = end => {
  const view = {from: 0, to: end, end, left: 0, redraws: []};
  view.changed = () => { for (const redraw of view.redraws) redraw(); };
  view.show = (a, b) => {
    const length = Math.min(end, Math.max(100, b - a));  // at least 100 ns
    view.from = Math.max(0, Math.min(end - length, a));
    view.to = view.from + length;
    view.changed();
  };
  return view;
};
