package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/reports"
	"pldperf/reports/plots"
	"pldperf/workloads"
)

func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder %s: %w", dir, err)
	}
	return nil
}

// folderName refuses the name of a file where a folder is meant. A folder that exists may
// be called as it likes, and so may one whose name ends in a slash.
func folderName(path string) error {
	ext := strings.TrimPrefix(filepath.Ext(path), ".")
	if info, err := os.Stat(path); err == nil && info.IsDir() || len(ext) < 2 || len(ext) > 5 || strings.Trim(strings.ToLower(ext), letters) != "" {
		return nil
	}
	return fmt.Errorf("-o %s is the name of a file, where a folder is meant; one of that name is %s/", path, path)
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// both writes a picture as PNG and SVG.
func both(p *plots.Picture, path string) error {
	return errors.Join(writePicture(p, path+".png"), writePicture(p, path+".svg"))
}

// pictures draws the kinds that are asked for, of which one that the points cannot give
// is an error, or else all that they can give. It returns how many it gave to write.
func (a *app) pictures(cmp *reports.Comparison, lang string, kinds []string, write func(kind string, p *plots.Picture) error) (drawn int, err error) {
	frame := plots.Frame{Subtitle: cmp.Title}
	if lang == "zh" {
		if frame.Chinese, err = plots.FindChinese(); err != nil {
			fmt.Fprintf(a.errs, "pldperf: plots in English: %v\n", err)
		}
	}
	for _, kind := range allKinds {
		if len(kinds) > 0 && !slices.Contains(kinds, kind) {
			continue
		}
		frame.Footnote = footnote(cmp, kind)
		p, err := picture(kind, frame, cmp)
		if err != nil && len(kinds) > 0 {
			return drawn, fmt.Errorf("plot %s: %w", kind, err)
		}
		if err != nil {
			continue
		}
		if err := write(kind, p); err != nil {
			return drawn, err
		}
		drawn++
	}
	return drawn, nil
}

// footnote says which points a picture is of, and from which draws its bands come, if it
// has some.
func footnote(cmp *reports.Comparison, kind string) string {
	ran := max(slices.IndexFunc(cmp.Points, func(p reports.Point) bool { return p.Digest != "" }), 0)
	text := fmt.Sprintf("%d points; digest of the first %s", len(cmp.Points), cmp.Points[ran].Digest)
	if cmp.Band != nil && kind != "reasons" && kind != "wqebb" {
		text += fmt.Sprintf("; band: 10 to 90 %% of %d draws, seed %d", len(cmp.Points[ran].Draws), cmp.Band.Seed)
	}
	return text
}

// picture draws one kind of plot.
func picture(kind string, frame plots.Frame, cmp *reports.Comparison) (*plots.Picture, error) {
	along := sizeAxis(cmp)
	switch kind {
	case "bandwidth", "time":
		if cmp.Compare != "" && len(cmp.Races()) > 0 && kind == "time" {
			return nil, errors.New("the plot of algorithms shows the same")
		}
		if along == "" {
			return nil, errors.New("no axis of this sweep is a message size")
		}
		shown := few(cmp, along)
		series := plots.Split(shown, along)
		frame.Footnote += left(len(plots.Split(cmp.Points, along)) - len(series))
		if kind == "time" {
			return plots.Time(frame, series)
		}
		return plots.Bandwidth(frame, plots.Busbw, series, roofLines(cmp, shown))
	case "algorithms":
		races := cmp.Races()
		if len(races) == 0 {
			return nil, errors.New("this sweep does not compare algorithms along an axis of sizes or ranks")
		}
		last := &races[len(races)-1]
		frame.Subtitle = subtitle(frame.Subtitle, last.Axes)
		return plots.Algorithms(frame, last, cmp.Points)
	case "core-num":
		if !hasAxis(cmp, cmp.Axis) {
			return nil, fmt.Errorf("%s is no axis of this sweep", cmp.Axis)
		}
		shown := fewGroups(cmp)
		frame.Footnote += left(len(plots.Split(cmp.Points, cmp.Axis)) - len(plots.Split(shown, cmp.Axis)))
		return plots.CoreNum(frame, cmp.Axis, shown, cmp.Tolerance)
	}
	axis, bars := cmp.Axis, lastGroup(cmp)
	if !hasAxis(cmp, axis) {
		if axis = along; axis == "" {
			axis = cmp.Points[0].Axes[len(cmp.Points[0].Axes)-1].Key
		}
		bars = cmp.Points
	}
	frame.Subtitle = strings.TrimPrefix(frame.Subtitle+"; "+shared(bars, axis), "; ")
	frame.Subtitle = strings.TrimSuffix(frame.Subtitle, "; ")
	if kind == "reasons" {
		return plots.Reasons(frame, axis, bars)
	}
	return plots.WQEBB(frame, axis, bars)
}

// left says how many curves are not drawn, lest a reader take those that are for all.
func left(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; %s of others are not drawn", plural(n, "curve"))
}

// subtitle adds what all curves have in common.
func subtitle(text string, axes []reports.KV) string {
	for _, kv := range axes {
		text += "; " + kv.Key + " " + kv.Value
	}
	return strings.TrimPrefix(text, "; ")
}

// shared names the axes on which all points have one value, but for one.
func shared(points []reports.Point, but string) string {
	var parts []string
	for _, kv := range points[0].Axes {
		if kv.Key != but && len(values(points, kv.Key)) == 1 {
			parts = append(parts, kv.Key+" "+kv.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// roofKey marks the inputs of a comparison that are rates which no point can exceed.
const roofKey = "roof: "

// maxRoofs is how many roofs a sweep states; beyond, a parameter of the machine is
// what it varies, and lines would only confuse.
const maxRoofs = 8

// roofs lists the rates that the points' machines cannot exceed, with what they belong
// to where points differ in that.
func roofs(s *workloads.Sweep) (out []reports.KV) {
	seen := map[string]bool{}
	for i := range s.Points {
		p := &s.Points[i]
		of := machineOf(axesOf(s, p))
		if seen[of] {
			continue
		}
		if seen[of] = true; len(seen) > maxRoofs {
			return nil
		}
		w, _, err := p.Open()
		if err != nil {
			continue
		}
		egress, pair, err := w.Roofs()
		if err == nil && egress != engine.Unlimited {
			out = append(out, reports.KV{Key: roofKey + "egress of a rank" + of, Value: egress.String()})
		}
		if err == nil && pair != engine.Unlimited && pair != egress && of == "" {
			out = append(out, reports.KV{Key: roofKey + "one pair", Value: pair.String()})
		}
	}
	return out
}

// machineOf names the values of the axes on which a point's roof depends.
func machineOf(axes []reports.KV) string {
	var parts []string
	for _, kv := range axes {
		if kv.Key == "ranks" || kv.Key == "machine" || strings.HasPrefix(kv.Key, "machine.") {
			parts = append(parts, kv.Key+" "+kv.Value)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// roofLines reads the roofs of some points back from their comparison's inputs.
func roofLines(cmp *reports.Comparison, points []reports.Point) (out []plots.Roof) {
	for _, kv := range cmp.Inputs {
		name, ok := strings.CutPrefix(kv.Key, roofKey)
		shown := ok && slices.ContainsFunc(points, func(p reports.Point) bool { return strings.HasSuffix(name, machineOf(p.Axes)) })
		var r engine.Rate
		if shown && r.UnmarshalText([]byte(kv.Value)) == nil {
			out = append(out, plots.Roof{Name: name, Rate: r})
		}
	}
	return out
}
