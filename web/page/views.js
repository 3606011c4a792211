import {PictureView} from "./picture_view.js";
import {WindowView} from "./window_view.js";
import {PlotView} from "./plot_view.js";
import {DotsView} from "./dots_view.js";
import {SceneView} from "./scene_view.js";
import {FolderView} from "./folder_view.js";

const view_classes = {
  picture: PictureView, window: WindowView, plot: PlotView, dots: DotsView, scene: SceneView, folder: FolderView,
};

export function make_view(kind, stage, host) {
  const View = view_classes[kind];
  if (!View) throw new Error(`view kind: expected ${Object.keys(view_classes).join(", ")}; got ${kind}`);
  return new View(stage, host);
}
