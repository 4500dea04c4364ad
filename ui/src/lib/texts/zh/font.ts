/** The letters of Chinese, in slices that are read when one of theirs is shown. Also for its name among the languages. */
import "@fontsource-variable/noto-sans-sc/wght.css";
